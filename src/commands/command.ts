import type { Terminal } from './terminal.ts'

/** The headings of the help, in the order in which they appear. */
export const groups = ['Run', 'Set up', 'Keys and money', 'Look', 'Repair'] as const
export type CommandGroup = (typeof groups)[number]

/** A command-line option. Its name is in camel case: `keyEnv` is `--key-env`. */
export interface Option<Value> {
  /** `MONTH` in `--since MONTH`; undefined for a switch. */
  placeholder: string | undefined
  does: string
  /** Whether it can be given several times. */
  repeats: boolean
  /** What the shell offers as completions. */
  completes: Completion
  /**
   * Parses all the values given; a switch has one empty value. Throws an Error that says what is expected.
   */
  read(texts: readonly string[]): Value
}

/** A positional argument. */
export interface Argument<Value> {
  placeholder: string
  does: string
  required: boolean
  /** Whether it takes all the remaining arguments. */
  repeats: boolean
  completes: Completion
  read(texts: readonly string[]): Value
}

export type Completion = 'nothing' | 'files' | 'folders' | readonly string[]

type Readers = Readonly<Record<string, { read(texts: readonly string[]): unknown }>>
export type ValuesOf<Of extends Readers> = { readonly [Name in keyof Of]: ReturnType<Of[Name]['read']> }

/** One run of a command. */
export interface CommandCall<Options extends Readers, Arguments extends Readers> {
  options: ValuesOf<Options>
  arguments: ValuesOf<Arguments>
  env: Record<string, string | undefined>
  terminal: Terminal
  /** Aborts on Ctrl-C and SIGTERM. A command still running two seconds later is terminated. */
  signal: AbortSignal
}

interface Definition<
  Options extends Record<string, Option<unknown>>,
  Arguments extends Record<string, Argument<unknown>>,
> {
  /** For example `ledger verify`. */
  name: string
  group: CommandGroup
  /** The description in the list of all commands. It starts with a verb and has no full stop. */
  does: string
  /** Further text for the command's own help. */
  details?: string
  /**
   * Whether the command changes something. If so, it runs to its end even when its output is no longer read;
   * any other command stops.
   */
  changes?: boolean
  options: Options
  arguments: Arguments
  /**
   * Resolves to the exit code. A CommandError ends the command with its own code and message. Heavy modules
   * are imported in here, not at the top of the file.
   */
  run(call: CommandCall<Options, Arguments>): Promise<number>
}

/** A command in the registry. */
export type Command = Readonly<
  Omit<Definition<Record<string, Option<unknown>>, Record<string, Argument<unknown>>>, 'run'>
> & {
  /** Parses the values from the command line, then runs. */
  run(call: CommandCall<Record<string, Option<unknown>>, Record<string, Argument<unknown>>>): Promise<number>
}

type CommandMaker = <
  Options extends Record<string, Option<unknown>>,
  Arguments extends Record<string, Argument<unknown>>,
>(
  definition: Definition<Options, Arguments>,
) => Command

/** Defines a command and infers the types of its options and arguments. */
export const command: CommandMaker = (
  definition: Definition<Record<string, Option<unknown>>, Record<string, Argument<unknown>>>,
) => definition

/** Converts an option's name: `keyEnv` becomes `--key-env`. */
export function optionName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
