// The exchanges of this tab, for as long as it is open. They do not contain keys.

/** The maximum number of stored exchanges; of earlier ones only the number is known. */
export const LONGEST = 200;

/** The maximum number of characters of stored responses; older responses are dropped. */
const LARGEST = 20_000_000;

const all = [];
let lost = 0;
const listeners = new Set();

/** Records an exchange, and returns it. */
export function note(done) {
  // A copy: an exchange that is dropped here may still be shown and saved.
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

/** Returns all exchanges, newest first. */
export const noted = () => all.toReversed();

/** Returns how many earlier exchanges were dropped. */
export const forgotten = () => lost;

/** Calls a function with every new exchange. */
export const whenNoted = (listener) => listeners.add(listener);
