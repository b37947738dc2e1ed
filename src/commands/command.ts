import type { Terminal } from './terminal.ts'

/** Headings of the help, in its order. */
export const groups = ['Run', 'Set up', 'Keys and money', 'Look', 'Repair'] as const
export type CommandGroup = (typeof groups)[number]

/** An option, by its name in camel case: `keyEnv` is `--key-env`. */
export interface Option<Value> {
  /** `MONTH` in `--since MONTH`. Undefined: a switch. */
  placeholder: string | undefined
  does: string
  /** It may be given several times. */
  repeats: boolean
  /** What a shell completes. */
  completes: Completion
  /**
   * Of all texts that were given; a switch gets one empty text. Throws an Error that says what they must be.
   */
  read(texts: readonly string[]): Value
}

/** What is on the command line without a name. */
export interface Argument<Value> {
  placeholder: string
  does: string
  required: boolean
  /** It takes all that are left. */
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
  /** Aborts at Ctrl-C and SIGTERM. A command that does not end within two seconds then is ended. */
  signal: AbortSignal
}

interface Definition<
  Options extends Record<string, Option<unknown>>,
  Arguments extends Record<string, Argument<unknown>>,
> {
  /** `ledger verify`. */
  name: string
  group: CommandGroup
  /** In the list of all commands: a verb first, no full stop. */
  does: string
  /** More, in its own help. */
  details?: string
  /**
   * It changes something, so it runs to its end when its output is no longer read. Any other command
   * ends then.
   */
  changes?: boolean
  options: Options
  arguments: Arguments
  /**
   * The exit code. A CommandError ends it with its code and message. Heavy modules are imported here, not
   * above.
   */
  run(call: CommandCall<Options, Arguments>): Promise<number>
}

/** A command of the registry. */
export type Command = Readonly<
  Omit<Definition<Record<string, Option<unknown>>, Record<string, Argument<unknown>>>, 'run'>
> & {
  /** Reads the texts of the command line, then runs. */
  run(call: CommandCall<Record<string, Option<unknown>>, Record<string, Argument<unknown>>>): Promise<number>
}

type CommandMaker = <
  Options extends Record<string, Option<unknown>>,
  Arguments extends Record<string, Argument<unknown>>,
>(
  definition: Definition<Options, Arguments>,
) => Command

/** One command, with the types of its options and arguments. */
export const command: CommandMaker = (
  definition: Definition<Record<string, Option<unknown>>, Record<string, Argument<unknown>>>,
) => definition

/** `keyEnv` is `--key-env`. */
export function optionName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
