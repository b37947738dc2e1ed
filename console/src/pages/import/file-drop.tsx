import { Button, FileButton, Textarea } from '@mantine/core'
import { useState } from 'react'
import classes from './import.module.css'
import { fileFault } from './import-query.ts'

/** A text file that is dropped or chosen, or its text that is pasted. */
export function FileDrop({
  name,
  text,
  error,
  onText,
  onFault,
}: {
  name: string
  text: string
  error: string | undefined
  onText(text: string, name: string): void
  /** The file cannot be read here. */
  onFault(words: string): void
}) {
  const [isOver, setOver] = useState(false)
  const take = async (file: File | null) => {
    if (file === null) return
    const wrong = fileFault(file.name, file.size, await file.slice(0, 256).text())
    if (wrong === undefined) onText(await file.text(), file.name)
    else onFault(wrong)
  }
  return (
    <section
      className={classes.drop}
      aria-label="The file"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void take(event.dataTransfer.files[0] ?? null)
      }}
    >
      <div className={classes.row}>
        <FileButton onChange={(file) => void take(file)} accept=".yaml,.yml,.json,.sql,.txt,.db">
          {(props) => (
            <Button {...props} variant="default">
              Choose a file
            </Button>
          )}
        </FileButton>
        <span className="tg-quiet">
          {text === '' || name === 'pasted'
            ? 'or drop it here, or paste its text: config.yaml of LiteLLM, a JSON export or SQL dump of new-api'
            : name}
        </span>
      </div>
      <Textarea
        className={classes.text ?? ''}
        mt={12}
        label="Text of the file"
        autosize
        minRows={6}
        maxRows={14}
        spellCheck={false}
        value={text}
        error={error}
        onChange={(event) => onText(event.currentTarget.value, 'pasted')}
      />
    </section>
  )
}
