import { useLocalStorage } from '@mantine/hooks'
import { useMemo } from 'react'

/** The columns that a reader has chosen for a grid; kept in this browser. */
export interface ColumnChoice {
  /** Their ids in order; undefined: the grid's own choice. */
  shown: readonly string[] | undefined
  choose(shown: readonly string[] | undefined): void
}

/** `name`: of the grid, the same at each visit. `known`: ids that it has today; others are forgotten. */
export function useColumnChoice(name: string, known: readonly string[]): ColumnChoice {
  const [kept, keep, forget] = useLocalStorage<string[] | undefined>({
    key: `tollgate-columns-${name}`,
    defaultValue: undefined,
    getInitialValueInEffect: false,
  })
  return useMemo(
    () => ({
      shown: Array.isArray(kept) ? kept.filter((id) => known.includes(id)) : undefined,
      choose: (shown) => (shown === undefined ? forget() : keep([...shown])),
    }),
    [kept, known, keep, forget],
  )
}
