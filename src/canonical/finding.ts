import { codeOf } from './unreachable.ts'

/** The headings of the report, in their order. */
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

/** `skipped` means that it could not be checked; another finding gives the reason. */
export type FindingVerdict = 'well' | 'warning' | 'wrong' | 'skipped'

/** The result of one check. None of its texts contains a secret. */
export interface Finding {
  area: CheckArea
  /** Identifies the finding for programs, such as `database.authentication`. */
  code: string
  verdict: FindingVerdict
  what: string
  why?: string
  /** What to do. */
  fix?: string
  /** A command line to copy, which fixes the problem or shows more about it. */
  run?: string
  /** A document and its heading, relative to the top of the package. */
  docs?: string
}

interface Advice extends Pick<Finding, 'why' | 'fix' | 'run'> {
  docs: string
}

/** Returns the functions that create findings of one area. */
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

/** Joins the messages of an error and its causes into one line. */
export function messagesIn(error: unknown): string {
  const messages: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) messages.push(at.message || codeOf(at))
  return messages.filter((message) => message !== '').join(': ') || String(error)
}

/** Quotes a word for a shell command line, because paths and names may contain spaces. */
export function inShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
