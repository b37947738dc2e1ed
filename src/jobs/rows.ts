import type { z } from 'zod'
import type { Job } from './job.ts'
import {
  keptAttempts,
  keptError,
  keptOpened,
  keptPartials,
  keptQuote,
  keptResult,
  readKept,
} from './kept-json.ts'
import type { JobRow } from './queries.ts'

/** Returns the job of a row. Throws if its JSON is invalid. */
export function jobOf({ quote, opened, attempts, partials, result, error, cost, ...row }: JobRow): Job {
  const read = <Value>(schema: z.ZodType<Value>, column: KeptColumn, json: string) =>
    readKept(schema, json, `${column} of image job ${row.id}`)
  return {
    ...row,
    quote: read(keptQuote, 'quote', quote),
    opened: read(keptOpened, 'opened', opened),
    attempts: read(keptAttempts, 'attempts', attempts),
    partials: read(keptPartials, 'partials', partials),
    result: result === null ? null : read(keptResult, 'result', result),
    error: error === null ? null : read(keptError, 'error', error),
    costNano: cost,
  }
}

type KeptColumn = 'quote' | 'opened' | 'attempts' | 'partials' | 'result' | 'error'
