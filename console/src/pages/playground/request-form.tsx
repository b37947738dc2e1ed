import { ActionIcon, Button, NumberInput, Select, Textarea } from '@mantine/core'
import { PlusIcon, TrashIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import {
  changedMessage,
  type Endpoint,
  type Form,
  type FormMessage,
  formOf,
  kindOf,
  parseRequest,
  type RequestBody,
  withForm,
} from './formats.ts'
import classes from './playground.module.css'

/** The common fields of a request. What it does not show stays in the request as it is. */
export function RequestForm({
  endpoint,
  request,
  onChange,
}: {
  endpoint: Endpoint
  request: RequestBody
  onChange(request: RequestBody): void
}) {
  const form = formOf(endpoint, request)
  const change = (fields: Partial<Form>) => onChange(withForm(endpoint, request, fields))
  if (kindOf(endpoint) !== 'chat') {
    return (
      <Textarea
        label={kindOf(endpoint) === 'image' ? 'What the picture shows' : 'Text'}
        value={form.prompt}
        autosize
        minRows={3}
        maxRows={12}
        onChange={({ currentTarget }) => change({ prompt: currentTarget.value })}
      />
    )
  }
  return (
    <div className={classes.form}>
      {form.system === null ? (
        <p className={classes.hint}>The system text has parts. Change it in the JSON.</p>
      ) : (
        <Textarea
          label="System"
          placeholder="How the model shall answer"
          value={form.system}
          autosize
          minRows={1}
          maxRows={8}
          onChange={({ currentTarget }) => change({ system: currentTarget.value })}
        />
      )}
      <Messages messages={form.messages} onChange={(messages) => change({ messages })} />
      <div className={classes.pair}>
        <NumberInput
          label="Max tokens"
          value={form.maxTokens ?? ''}
          min={1}
          allowDecimal={false}
          hideControls
          onChange={(value) => change({ maxTokens: typeof value === 'number' ? value : null })}
        />
        <NumberInput
          label="Temperature"
          value={form.temperature ?? ''}
          min={0}
          max={2}
          step={0.1}
          onChange={(value) => change({ temperature: typeof value === 'number' ? value : null })}
        />
      </div>
      <Tools request={request} onChange={onChange} />
    </div>
  )
}

function Messages({
  messages,
  onChange,
}: {
  messages: FormMessage[]
  onChange(messages: FormMessage[]): void
}) {
  const put = (index: number, message: FormMessage) => onChange(messages.with(index, message))
  const nextRole = messages.at(-1)?.role === 'user' ? 'assistant' : 'user'
  return (
    <fieldset className={classes.messages}>
      <legend>Messages</legend>
      {messages.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message has no name but its place
        <div key={index} className={classes.message}>
          <div className={classes.messageHead}>
            <Select
              size="xs"
              w={120}
              aria-label={`Role of message ${index + 1}`}
              disabled={message.parts}
              data={[...new Set(['user', 'assistant', 'system', message.role])]}
              value={message.role}
              onChange={(role) => put(index, changedMessage(message, { role: role ?? message.role }))}
            />
            <ActionIcon
              size={24}
              aria-label={`Remove message ${index + 1}`}
              onClick={() => onChange(messages.filter((_, other) => other !== index))}
            >
              <TrashIcon size={14} />
            </ActionIcon>
          </div>
          {message.parts ? (
            <p className={classes.hint}>
              {message.text.slice(0, 400)} This message has parts that are no text. Change it in the JSON.
            </p>
          ) : (
            <Textarea
              aria-label={`Text of message ${index + 1}`}
              value={message.text}
              autosize
              minRows={2}
              maxRows={12}
              onChange={({ currentTarget }) =>
                put(index, changedMessage(message, { text: currentTarget.value }))
              }
            />
          )}
        </div>
      ))}
      <Button
        variant="default"
        leftSection={<PlusIcon size={12} />}
        onClick={() => onChange([...messages, { role: nextRole, text: '', parts: false }])}
      >
        Add a message
      </Button>
    </fieldset>
  )
}

/** The tools as the format has them. A text that is not JSON stays in the field, and out of the request. */
function Tools({ request, onChange }: { request: RequestBody; onChange(request: RequestBody): void }) {
  const stands = request.tools === undefined ? '' : JSON.stringify(request.tools, null, 2)
  const [text, setText] = useState(stands)
  const [error, setError] = useState<string>()
  useEffect(() => {
    setText(stands)
    setError(undefined)
  }, [stands])
  const take = () => {
    const { tools: _, ...rest } = request
    if (text.trim() === '') return onChange(rest)
    const read = parseRequest(`{"tools":\n${text}\n}`)
    if ('error' in read) setError(`Line ${Math.max(1, (read.line ?? 2) - 1)}: ${read.error}`)
    else if (!Array.isArray(read.request.tools)) setError('Tools are a list: [ ... ]')
    else onChange({ ...request, ...read.request })
  }
  return (
    <Textarea
      label="Tools, as JSON of this format"
      placeholder="[ ]"
      classNames={{ input: classes.mono ?? '' }}
      value={text}
      error={error}
      autosize
      minRows={1}
      maxRows={12}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      onBlur={() => text !== stands && take()}
    />
  )
}
