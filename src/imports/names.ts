/**
 * Turns a text into a name that gateway.yaml accepts, with only visible characters and a maximum length.
 * Undefined if nothing is left.
 */
export function visibleName(text: string, charactersMax: number): string | undefined {
  const name = text
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, charactersMax)
    .trim()
  return name === '' ? undefined : name
}

/**
 * Makes names unique by appending a suffix to duplicates. Importing the same file again yields the same
 * suffixes.
 */
export class UniqueNames {
  readonly #given = new Set<string>()

  give(name: string, mark: string, charactersMax = 128): string {
    let unique = name
    for (let count = 1; this.#given.has(unique); count++) {
      const end = count === 1 ? ` ${mark}` : ` ${mark}-${count}`
      unique = name.slice(0, charactersMax - end.length) + end
    }
    this.#given.add(unique)
    return unique
  }
}

/** Generates names of environment variables, such as `OPENAI_MAIN_KEY`. */
export class VariableNames {
  readonly #given: Set<string>

  /** `taken` contains names that already have a meaning. */
  constructor(taken: Iterable<string> = []) {
    this.#given = new Set(taken)
  }

  give(...words: readonly string[]): string {
    const joined = words
      .join('_')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 100)
    const name = /^[A-Z]/.test(joined) ? joined : `IMPORTED_${joined}`
    let unique = name
    for (let count = 2; this.#given.has(unique); count++) unique = `${name}_${count}`
    this.#given.add(unique)
    return unique
  }
}
