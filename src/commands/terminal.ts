import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** The streams and the environment of a command. */
export interface Streams {
  /** Changed by `start` and --env-file; otherwise only read. */
  env: Record<string, string | undefined>
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: Output
  stderr: Output
}

export interface Output {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

/** How text is shown on a terminal. */
export interface Look {
  hasColour: boolean
  /** The number of characters per line; undefined means no limit. */
  columns: number | undefined
}

const everyMs = 1_000
const clearLine = '\r\u001b[2K'

/** Prints results to stdout and everything else to stderr. */
export class Terminal {
  readonly #streams: Streams

  constructor(streams: Streams) {
    this.#streams = streams
  }

  get streams(): Streams {
    return this.#streams
  }

  /**
   * The look of stdout. Colours are used only on a terminal, and never with NO_COLOR: https://no-color.org
   */
  get look(): Look {
    const { stdout, env } = this.#streams
    const isTerminal = stdout.isTTY === true
    return {
      hasColour: isTerminal && !env.NO_COLOR && env.TERM !== 'dumb',
      columns: isTerminal ? stdout.columns : undefined,
    }
  }

  print(line: string): void {
    this.#streams.stdout.write(`${line}\n`)
  }

  /** Prints a single value for programs. */
  printJson(value: unknown): void {
    this.print(JSON.stringify(value, null, 2))
  }

  /** Prints one of many values, one per line. */
  printJsonLine(value: unknown): void {
    this.print(JSON.stringify(value))
  }

  /** Prints a message for people, separate from the result. */
  tell(line: string): void {
    this.#streams.stderr.write(`${line}\n`)
  }

  /** Shows on a terminal what is running and for how long. Elsewhere it shows nothing. */
  async during<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    const { stderr } = this.#streams
    if (stderr.isTTY !== true) return await work()
    const startMs = performance.now()
    const show = () => {
      const seconds = Math.floor((performance.now() - startMs) / 1_000)
      stderr.write(`${clearLine}${what} ... ${seconds === 0 ? '' : `${seconds} s`}`)
    }
    show()
    const timer = setInterval(show, everyMs)
    try {
      return await work()
    } finally {
      clearInterval(timer)
      stderr.write(clearLine)
    }
  }

  /** Reads one line of standard input, which a terminal does not show. Empty at the end of the input. */
  async secret(prompt: string, signal: AbortSignal): Promise<string> {
    const { stdin, stderr } = this.#streams
    const terminal = stdin.isTTY === true
    if (terminal) stderr.write(`${prompt}: `)
    const output = new Writable({ write: (_chunk, _encoding, done) => done() }).on('error', () => {})
    const lines = createInterface({ input: stdin, output, terminal, signal })
    // A last line without an end is no answer to `question`.
    const line = await new Promise<string>((resolve) => {
      lines.once('line', resolve).once('close', () => resolve(''))
    })
    lines.close()
    if (terminal) stderr.write('\n')
    return line.trim()
  }

  /** Asks the user to confirm. Returns false without a terminal, and on Ctrl-C and Ctrl-D. */
  async agrees(prompt: string, signal: AbortSignal): Promise<boolean> {
    const { stdin, stdout, stderr } = this.#streams
    if (stdin.isTTY !== true || stdout.isTTY !== true) return false
    stderr.write(`${prompt} [y/N] `)
    const lines = createInterface({ input: stdin })
    // After Ctrl-D a prompt would stay pending forever.
    const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)))
    try {
      const answer = await Promise.race([lines.question('', { signal }), ended])
      if (answer === undefined) stderr.write('\n')
      return /^y(es)?$/i.test(answer?.trim() ?? '')
    } catch {
      return false
    } finally {
      lines.close()
    }
  }
}

export const colours = { bold: 1, red: 31, green: 32, yellow: 33, grey: 90 } as const

export function paint(text: string, colour: keyof typeof colours, { hasColour }: Look): string {
  return hasColour && text !== '' ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text
}

/**
 * Replaces control characters in foreign texts, such as model names, so that they never reach the terminal.
 */
export function plain(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}

/** Aligns the rows in columns separated by two spaces. Lines are cut at the width of the terminal. */
export function tableText(rows: readonly (readonly string[])[], { columns }: Look): string[] {
  const shown = rows.map((row) => row.map(plain))
  const widths = (shown[0] ?? []).map((_, at) => Math.max(...shown.map((row) => row[at]?.length ?? 0)))
  return shown.map((row) => {
    const line = row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
    return columns === undefined || line.length <= columns ? line : `${line.slice(0, columns - 1)}…`
  })
}
