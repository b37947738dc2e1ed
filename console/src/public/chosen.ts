import { useSyncExternalStore } from 'react'

/**
 * The label of the tab of code that somebody chose last, such as `Python`. It holds on all pages, and for
 * later visits.
 */
const name = 'tollgate-code'
const listeners = new Set<() => void>()

export function chosen(): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    // The browser keeps nothing for this page.
    return null
  }
}

export function choose(label: string): void {
  try {
    localStorage.setItem(name, label)
  } catch {
    // As above: the choice holds for one block of code.
  }
  for (const listener of listeners) listener()
}

export function onChosen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useChosen(): string | null {
  return useSyncExternalStore(onChosen, chosen)
}
