import { Button, Menu } from '@mantine/core'
import { ChevronDownIcon, ClockIcon } from '@primer/octicons-react'
import { lazy, Suspense, useState } from 'react'
import { days, lasts, type RangeSearch, rangeTitle } from '../format/range.ts'

/** Few choose a time of their own: the first page does not wait for its fields. */
const OwnRange = lazy(async () => ({ default: (await import('./own-range.tsx')).OwnRange }))

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
      {isOpen ? (
        <Suspense fallback={null}>
          <OwnRange range={range} onChange={onChange} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  )
}
