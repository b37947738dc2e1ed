type Get = (name: string) => string

/** A filter of the address as a parameter of the API; left out where it is empty. */
export function textOf<Name extends string>(get: Get, name: Name): Partial<Record<Name, string>> {
  const value = get(name)
  return value === '' ? {} : ({ [name]: value } as Record<Name, string>)
}

/** The same for a filter with known values; another one is left out. */
export function choiceOf<const Name extends string, const Value extends string>(
  get: Get,
  name: Name,
  values: readonly Value[],
): Partial<Record<Name, Value>> {
  const value = values.find((known) => known === get(name))
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>)
}

/**
 * What a choice of names offers: all, and each of them. The value that the address has is offered too, where
 * `names` do not have it.
 */
export function optionsOf(
  all: string,
  names: readonly string[],
  chosen: string,
): { value: string; label: string }[] {
  const known = chosen === '' || names.includes(chosen) ? names : [chosen, ...names]
  return [{ value: '', label: all }, ...known.map((name) => ({ value: name, label: name }))]
}

export const managers = ['file', 'admin'] as const
export const yesOrNo = ['true', 'false'] as const
