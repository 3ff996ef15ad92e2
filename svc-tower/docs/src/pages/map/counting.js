// Counts the records of collections for the map and for the bars by day.

/** Calls `work` with each thing, four at a time. */
export async function each(things, work) {
  const waiting = [...things];
  const one = async () => {
    while (waiting.length > 0) await work(waiting.shift());
  };
  await Promise.all([one(), one(), one(), one()]);
}

/** Returns the number of records of a collection, or null if the server does not state it. */
export async function total(href, read, query = {}) {
  const address = new URL(href);
  for (const [name, value] of Object.entries({ per_page: 1, ...query })) address.searchParams.set(name, value);
  const { status, json } = await read(address.href);
  const count = Number(json?.total_records ?? Number.NaN);
  return status === 200 && Number.isSafeInteger(count) ? count : null;
}
