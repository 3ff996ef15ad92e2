// What was asked in this tab, for as long as it is open: no key is in it.

/** So many are kept; of those before them nothing is left. */
const LONGEST = 200;

const all = [];
const listeners = new Set();

/** Notes an exchange, and gives it back. */
export function note(done) {
  all.push(done);
  if (all.length > LONGEST) all.shift();
  for (const listener of listeners) listener(done);
  return done;
}

/** All exchanges, the last one first. */
export const noted = () => all.toReversed();

/** Calls a function with every exchange from now on. */
export const whenNoted = (listener) => listeners.add(listener);
