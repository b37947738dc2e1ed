import { type KeyboardEvent, useId, useState } from 'react'
import { Copy } from '../parts/copy.tsx'
import { gatewayUrl } from '../site.ts'
import './highlight.css'
import { choose, useChosen } from './chosen.ts'
import { filled, filledHtml } from './fill.ts'
import classes from './snippet-tabs.module.css'

export interface ShownSnippet {
  label: string
  text: string
  html: string
}

/** The same program in several languages, for one model. The chosen tab holds on all pages. */
export function SnippetTabs({ snippets, model }: { snippets: readonly ShownSnippet[]; model: string }) {
  const id = useId()
  const stored = useChosen()
  // Without a store, the choice holds here.
  const [own, setOwn] = useState<string>()
  const wanted = [stored, own].find((label) => snippets.some((one) => one.label === label))
  const at = Math.max(
    0,
    snippets.findIndex(({ label }) => label === wanted),
  )
  const shown = snippets[at]
  if (shown === undefined) return null
  const pick = (index: number) => {
    const label = snippets[index]?.label
    if (label === undefined) return
    setOwn(label)
    choose(label)
    document.getElementById(`${id}-${index}`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    pick((at + step + snippets.length) % snippets.length)
  }
  const values = { gateway: gatewayUrl, model }
  const text = filled(shown.text, values)
  return (
    <div className={classes.snippets}>
      <div className={classes.tabs} role="tablist" aria-label="Client" onKeyDown={onKeyDown}>
        {snippets.map(({ label }, index) => (
          <button
            key={label}
            id={`${id}-${index}`}
            type="button"
            role="tab"
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => pick(index)}
          >
            {label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${at}`} className={classes.panel}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
        <pre tabIndex={0}>
          {/* biome-ignore lint/security/noDangerouslySetInnerHtml: made when the pages were built; values are escaped */}
          <code dangerouslySetInnerHTML={{ __html: filledHtml(shown.html, values) }} />
        </pre>
        <div className={classes.copy}>
          <Copy text={text} what="the code" />
        </div>
      </div>
    </div>
  )
}
