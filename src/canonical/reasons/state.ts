import { reasonsOf } from './entry.ts'

/** What Tollgate keeps: answers, conversations, files, jobs and repeats. */
export const stateReasons = reasonsOf({})
