import { Link } from '@tanstack/react-router'
import type { Key } from '../../api/access-queries.ts'
import { State } from '../../parts/state.tsx'
import classes from '../access/access.module.css'
import { stateOfKey } from '../access/access-words.ts'

/** The name of a key, which leads to its page. */
export function KeyName({ of: { id, name } }: { of: Pick<Key, 'id' | 'name'> }) {
  return (
    <Link className={classes.link} to="/console/keys/$id" params={{ id }}>
      {name}
    </Link>
  )
}

export function KeyState({ of }: { of: Key }) {
  const { tone, words } = stateOfKey(of, new Date())
  return tone === 'good' ? <span className="tg-quiet">{words}</span> : <State tone={tone}>{words}</State>
}
