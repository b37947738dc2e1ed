/**
 * No file of tests begins in the last minutes of a day (UTC): it waits for the next one. Many seed days that Postgres then counts
 * from its own, and one that changes between the two moves them all.
 */

import { until } from './until.ts'

/** Longer than any file takes, but those of `npm run chaos`. */
const fileMs = 180_000
const dayMs = 86_400_000

const leftMs = () => dayMs - (Date.now() % dayMs)
if (leftMs() < fileMs) {
  console.log(`this file of tests waits ${Math.ceil(leftMs() / 1000)} s, until midnight (UTC) is over`)
  await until(() => leftMs() > fileMs, 2 * fileMs)
}
