import { Button, Popover, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { zoneName } from '../format/moments.ts'
import { momentsOf, type RangeSearch } from '../format/range.ts'

/** Asks for a time from a moment to another one, beside the button that it was opened by. */
export function OwnRange({
  range,
  onChange,
  onClose,
}: {
  range: RangeSearch
  onChange(range: RangeSearch): void
  onClose(): void
}) {
  return (
    <Popover opened onChange={onClose} position="bottom-start" trapFocus withRoles={false}>
      <Popover.Target>
        <span />
      </Popover.Target>
      <Popover.Dropdown>
        <Fields
          range={range}
          onChange={(chosen) => {
            onClose()
            onChange(chosen)
          }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

function Fields({ range, onChange }: { range: RangeSearch; onChange(range: RangeSearch): void }) {
  const moments = momentsOf(range, new Date())
  const [from, setFrom] = useState(inField(moments?.from))
  const [to, setTo] = useState(inField(moments?.to))
  const isWrong = from !== '' && to !== '' && new Date(from) >= new Date(to)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isWrong) return
        onChange({
          ...(from === '' ? {} : { from: new Date(from).toISOString() }),
          ...(to === '' ? {} : { to: new Date(to).toISOString() }),
        })
      }}
    >
      <Stack gap={8}>
        <TextInput
          type="datetime-local"
          step={1}
          label={`From (${zoneName()})`}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          step={1}
          label={`To (${zoneName()}); empty: now`}
          value={to}
          error={isWrong ? 'The end must be after the beginning.' : undefined}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button type="submit">Show this time</Button>
      </Stack>
    </form>
  )
}

/** In the reader's zone, as the field wants it: `2026-11-24T14:02:11`. */
function inField(at: string | undefined): string {
  if (at === undefined) return ''
  const here = new Date(at)
  return new Date(here.getTime() - here.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
