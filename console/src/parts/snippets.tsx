import { Tabs } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import type { Snippet } from '../snippets/snippet.ts'
import { Code } from './code.tsx'
import classes from './snippets.module.css'

/** Code in tabs. What the reader chose stays chosen, wherever snippets of the same `kind` are shown. */
export function Snippets({ snippets, kind }: { snippets: readonly Snippet[]; kind: 'sdk' | 'agent' }) {
  const [chosen, choose] = useLocalStorage({ key: `tollgate.snippets.${kind}`, defaultValue: '' })
  const [first] = snippets
  if (first === undefined) return null
  const shown = snippets.find(({ id }) => id === chosen) ?? first
  return (
    <Tabs value={shown.id} onChange={(id) => choose(id ?? '')} keepMounted={false}>
      <Tabs.List mb={8} aria-label={kind === 'agent' ? 'Agents' : 'Languages'}>
        {snippets.map(({ id, title }) => (
          <Tabs.Tab key={id} value={id}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.map(({ id, title, text, before }) => (
        <Tabs.Panel key={id} value={id}>
          {before === undefined ? null : <p className={classes.before}>{before}</p>}
          <Code text={text} what={`the code for ${title}`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
