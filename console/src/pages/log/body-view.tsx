import { SegmentedControl, TextInput } from '@mantine/core'
import { useDeferredValue, useMemo, useState } from 'react'
import { bytes } from '../../format/numbers.ts'
import { Code } from '../../parts/code.tsx'
import { Copy } from '../../parts/copy.tsx'
import { BodyNode } from './body-node.tsx'
import { bodyOf, contains } from './body-tree.ts'
import classes from './body-view.module.css'

/** A body as a tree that folds, with search, or as it is. Everything in it is text: none of it runs. */
export function BodyView({ text, label }: { text: string; label: string }) {
  const body = useMemo(() => bodyOf(text), [text])
  const [view, setView] = useState<'tree' | 'raw'>(body.kind === 'json' ? 'tree' : 'raw')
  const [words, setWords] = useState('')
  const wanted = useDeferredValue(words)
  const pretty = useMemo(
    () => (body.kind === 'json' ? JSON.stringify(body.value, null, 2) : body.text),
    [body],
  )
  return (
    <div className={classes.body}>
      <div className={classes.tools}>
        {body.kind === 'json' ? (
          <SegmentedControl
            size="xs"
            aria-label={`How the ${label} is shown`}
            value={view}
            onChange={(value) => setView(value as 'tree' | 'raw')}
            data={[
              { value: 'tree', label: 'Tree' },
              { value: 'raw', label: 'Raw' },
            ]}
          />
        ) : null}
        {view === 'tree' ? (
          <TextInput
            size="xs"
            flex={1}
            aria-label={`Search the ${label}`}
            placeholder="Search in it"
            value={words}
            onChange={(event) => setWords(event.currentTarget.value)}
          />
        ) : null}
        <span className="tg-quiet">{bytes(new Blob([text]).size)}</span>
        <Copy text={text} what={`the ${label}`} />
      </div>
      {view === 'raw' || body.kind === 'text' ? (
        <Code text={pretty} what={`the ${label}`} />
      ) : contains(body.value, wanted) ? (
        <div className={classes.tree}>
          <BodyNode value={body.value} words={wanted} depth={0} />
        </div>
      ) : (
        <div className="tg-quiet">Nothing in it has “{wanted}”.</div>
      )}
    </div>
  )
}
