import type { Argument, Completion, Option } from './command.ts'

type Read<Value> = (text: string) => Value

const asText: Read<string> = (text) => text

interface Shape {
  completes?: Completion
}

/** An option without a value. */
export function flag(does: string): Option<boolean> {
  return {
    placeholder: undefined,
    does,
    repeats: false,
    completes: 'nothing',
    read: (texts) => texts.length > 0,
  }
}

/**
 * An option with one value; undefined if it is not given. If it is given several times, the last value is
 * used.
 */
export function value(placeholder: string, does: string, shape?: Shape): Option<string | undefined>
export function value<Value>(
  placeholder: string,
  does: string,
  shape: Shape & { read: Read<Value> },
): Option<Value | undefined>
export function value<Value>(
  placeholder: string,
  does: string,
  { completes = 'nothing', read }: Shape & { read?: Read<Value> } = {},
): Option<Value | string | undefined> {
  return {
    placeholder,
    does,
    repeats: false,
    completes,
    read(texts) {
      const text = texts.at(-1)
      return text === undefined ? undefined : (read ?? asText)(text)
    },
  }
}

/** An option that can be given several times. */
export function values(placeholder: string, does: string): Option<readonly string[]> {
  return { placeholder, does, repeats: true, completes: 'nothing', read: (texts) => texts }
}

export function required(placeholder: string, does: string, shape?: Shape): Argument<string>
export function required<Value>(
  placeholder: string,
  does: string,
  shape: Shape & { read: Read<Value> },
): Argument<Value>
export function required<Value>(
  placeholder: string,
  does: string,
  { completes = 'nothing', read }: Shape & { read?: Read<Value> } = {},
): Argument<Value | string> {
  const readOne = read ?? asText
  return {
    placeholder,
    does,
    required: true,
    repeats: false,
    completes,
    read: ([text = '']) => readOne(text),
  }
}

export function optional(
  placeholder: string,
  does: string,
  { completes = 'nothing' }: Shape = {},
): Argument<string | undefined> {
  return { placeholder, does, required: false, repeats: false, completes, read: ([text]) => text }
}

/** An argument with one or more values. */
export function several(
  placeholder: string,
  does: string,
  { completes = 'nothing' }: Shape = {},
): Argument<readonly string[]> {
  return { placeholder, does, required: true, repeats: true, completes, read: (texts) => texts }
}

/** Accepts one of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]): Read<Word> {
  return (text) => {
    const word = words.find((one) => one === text)
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}, not ${JSON.stringify(text)}`)
    return word
  }
}

/** Accepts a whole number from `least` to `most`, inclusive. */
export function whole(least: number, most: number): Read<number> {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new Error(`must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`)
  }
}

export const json = flag('print JSON')

/** The options of every command. run-command.ts reads the file before anything else reads the environment. */
export const commonOptions = {
  envFile: value('FILE', 'read variables from this file; those of the environment take precedence', {
    completes: 'files',
  }),
}
