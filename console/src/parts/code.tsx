import classes from './code.module.css'
import { Copy } from './copy.tsx'

/** A command or a snippet, with a button that copies it as it is, without prompt signs. */
export function Code({ text, what }: { text: string; what: string }) {
  return (
    <div className={classes.code}>
      {/* It scrolls, so the keyboard must reach it. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable */}
      <pre tabIndex={0}>{text}</pre>
      <div className={classes.copy}>
        <Copy text={text} what={what} />
      </div>
    </div>
  )
}
