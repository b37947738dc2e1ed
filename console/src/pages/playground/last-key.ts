import { useState } from 'react'

/**
 * The key that this user chose last in the playground, in this browser. Only an explicit choice is kept: a
 * link with a key in its address does not decide who pays the next time.
 */
export function useLastKey(user: string): [string | undefined, (id: string) => void] {
  const name = `tollgate.playground-key ${user}`
  const [last, setLast] = useState(() => read(name))
  return [
    last,
    (id) => {
      setLast(id)
      keep(name, id)
    },
  ]
}

function read(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined
  } catch {
    // The browser keeps nothing for this page.
    return undefined
  }
}

function keep(name: string, id: string): void {
  try {
    localStorage.setItem(name, id)
  } catch {
    // As above: the choice holds as long as the page.
  }
}
