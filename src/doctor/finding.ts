import { codeOf } from '../canonical/unreachable.ts'

/** Headings of the report, in its order. */
export const areas = [
  'configuration',
  'gateway.yaml',
  'database',
  'redis',
  'data directory',
  'network',
  'machine',
  'channels',
  'money',
  'storage',
  'pages',
] as const
export type CheckArea = (typeof areas)[number]

/** `skipped`: it could not be looked at, and another finding says why. */
export type FindingVerdict = 'well' | 'warning' | 'wrong' | 'skipped'

/** One thing that was looked at. No text of it has a secret. */
export interface Finding {
  area: CheckArea
  /** Names the finding for programs, such as `database.authentication`. */
  code: string
  verdict: FindingVerdict
  what: string
  why?: string
  /** What to do. */
  fix?: string
  /** A command line to copy, that does it or shows more. */
  run?: string
  /** A document and its heading, from the top of the package. */
  docs?: string
}

interface Advice extends Pick<Finding, 'why' | 'fix' | 'run'> {
  docs: string
}

/** The findings of one area. */
export function findingsOf(area: CheckArea) {
  return {
    well: (code: string, what: string): Finding => ({ area, code, verdict: 'well', what }),
    skipped: (code: string, what: string): Finding => ({ area, code, verdict: 'skipped', what }),
    warning: (code: string, what: string, advice: Advice): Finding => ({
      area,
      code,
      verdict: 'warning',
      what,
      ...advice,
    }),
    wrong: (code: string, what: string, advice: Advice): Finding => ({
      area,
      code,
      verdict: 'wrong',
      what,
      ...advice,
    }),
  }
}

/** The messages of an error and of its causes, in one line. */
export function messagesIn(error: unknown): string {
  const messages: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) messages.push(at.message || codeOf(at))
  return messages.filter((message) => message !== '').join(': ') || String(error)
}

/** A word of a command line, as a shell reads it: paths and names may have blanks. */
export function inShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
