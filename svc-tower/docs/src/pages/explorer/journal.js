// What was asked in this tab, for as long as it is open: no key is in it.

/** So many are kept; of those before them nothing is left but how many they were. */
export const LONGEST = 200;

/** So many characters of answers are kept; of those before them nothing is left but that they were. */
const LARGEST = 20_000_000;

const all = [];
let lost = 0;
const listeners = new Set();

/** Notes an exchange, and gives it back. */
export function note(done) {
  // A copy: what is forgotten here may still be shown, and saved.
  const kept = { ...done };
  all.push(kept);
  if (all.length > LONGEST) {
    all.shift();
    lost += 1;
  }
  let size = 0;
  for (const one of all.toReversed()) {
    size += one.text.length;
    if (size > LARGEST && one !== kept) Object.assign(one, { text: "", json: null, isForgotten: true });
  }
  for (const listener of listeners) listener(kept);
  return done;
}

/** All exchanges, the last one first. */
export const noted = () => all.toReversed();

/** How many there were before those that are kept. */
export const forgotten = () => lost;

/** Calls a function with every exchange from now on. */
export const whenNoted = (listener) => listeners.add(listener);
