import { Button, Menu, Popover, Stack, TextInput } from '@mantine/core'
import { ChevronDownIcon, ClockIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { zoneName } from '../format/moments.ts'
import { days, lasts, momentsOf, type RangeSearch, rangeTitle } from '../format/range.ts'

/** Chooses a time. `fallback`: the words where nothing is chosen. */
export function RangePicker({
  range,
  onChange,
  fallback = 'Any time',
  clears = false,
}: {
  range: RangeSearch
  onChange(range: RangeSearch): void
  fallback?: string
  /** Whether "any time" can be chosen. */
  clears?: boolean
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Menu position="bottom-start" width={208}>
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<ClockIcon size={14} />}
            rightSection={<ChevronDownIcon size={14} />}
          >
            {rangeTitle(range, fallback)}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {clears ? <Menu.Item onClick={() => onChange({})}>{fallback}</Menu.Item> : null}
          {lasts.map(({ last, title }) => (
            <Menu.Item key={last} onClick={() => onChange({ last })} aria-current={range.last === last}>
              {title}
            </Menu.Item>
          ))}
          <Menu.Divider />
          {days.map(({ last, title }) => (
            <Menu.Item key={last} onClick={() => onChange({ last })} aria-current={range.last === last}>
              {title}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => setOpen(true)}>From … to …</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus withRoles={false}>
        <Popover.Target>
          <span />
        </Popover.Target>
        <Popover.Dropdown>
          <OwnRange
            range={range}
            onChange={(chosen) => {
              setOpen(false)
              onChange(chosen)
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </>
  )
}

function OwnRange({ range, onChange }: { range: RangeSearch; onChange(range: RangeSearch): void }) {
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
