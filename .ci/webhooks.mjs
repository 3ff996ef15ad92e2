// Verifies messages with the npm package `standardwebhooks`: see the script `webhooks`.
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';

const tally = { taken: 0, refused: 0 };
for (const line of readFileSync(process.argv[2], 'utf8').trim().split('\n')) {
  const { secret, headers, body, is_altered: isAltered, how } = JSON.parse(line);
  let isTaken = true;
  try {
    new Webhook(secret).verify(body, headers);
  } catch {
    isTaken = false;
  }
  if (isTaken === isAltered) throw new Error(`${isTaken ? 'accepted' : 'rejected'}: ${how}: ${line}`);
  tally[isTaken ? 'taken' : 'refused'] += 1;
}
console.log(`npm standardwebhooks: ${tally.taken} messages accepted, ${tally.refused} altered ones rejected`);
