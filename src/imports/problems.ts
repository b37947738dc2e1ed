/** A setting of the other gateway that is not carried over unchanged. */
export interface ImportProblem {
  /**
   * `lost`: not carried over. `changed`: carried over with a different meaning. `note`: carried over, but the
   * operator should know about it.
   */
  level: 'lost' | 'changed' | 'note'
  /** The object in the other gateway, such as `channel "main"`. */
  where: string
  what: string
}

/** The file cannot be imported. The message says what to change. */
export class ImportError extends Error {}

/** Secrets of the file are in variables of the environment that have no value. */
export class UnsetVariables extends ImportError {
  readonly names: readonly string[]

  constructor(names: readonly string[]) {
    super(
      `these environment variables are not set: ${names.join(', ')}. Set them, or use --to-yaml to write a gateway.yaml, which only refers to them`,
    )
    this.names = names
  }
}

/** Collects problems without duplicates. */
export class Problems {
  readonly list: ImportProblem[] = []
  readonly #reported = new Set<string>()

  lost(where: string, what: string): void {
    this.#add('lost', where, what)
  }

  changed(where: string, what: string): void {
    this.#add('changed', where, what)
  }

  note(where: string, what: string): void {
    this.#add('note', where, what)
  }

  #add(level: ImportProblem['level'], where: string, what: string): void {
    const key = JSON.stringify([level, where, what])
    if (this.#reported.has(key)) return
    this.#reported.add(key)
    this.list.push({ level, where, what })
  }
}
