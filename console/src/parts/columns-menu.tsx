import { ActionIcon, Button, Checkbox, Group, Popover, Stack } from '@mantine/core'
import { ChevronDownIcon, ChevronUpIcon, ColumnsIcon } from '@primer/octicons-react'
import type { ColumnChoice } from './column-choice.ts'

/** Chooses which columns a grid shows, and their order. */
export function ColumnsMenu({
  columns,
  choice,
}: {
  columns: readonly { id: string; head: string; isExtra?: boolean }[]
  choice: ColumnChoice
}) {
  const usual = columns.filter(({ isExtra }) => isExtra !== true).map(({ id }) => id)
  const shown = choice.shown ?? usual
  const inOrder = [
    ...shown.flatMap((id) => columns.find((column) => column.id === id) ?? []),
    ...columns.filter(({ id }) => !shown.includes(id)),
  ]
  const move = (id: string, by: number) => {
    const from = shown.indexOf(id)
    const next = shown.filter((other) => other !== id)
    next.splice(Math.max(0, from + by), 0, id)
    choice.choose(next)
  }
  return (
    <Popover position="bottom-end" width={272} trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<ColumnsIcon size={14} />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown mah={420} style={{ overflow: 'auto' }}>
        <Stack gap={4}>
          {inOrder.map(({ id, head }) => {
            const at = shown.indexOf(id)
            return (
              <Group key={id} gap={4} wrap="nowrap">
                <Checkbox
                  size="xs"
                  flex={1}
                  label={head}
                  checked={at !== -1}
                  onChange={(event) =>
                    choice.choose(
                      event.currentTarget.checked ? [...shown, id] : shown.filter((other) => other !== id),
                    )
                  }
                />
                {at === -1 ? null : (
                  <>
                    <ActionIcon
                      size={20}
                      aria-label={`Move ${head} to the left`}
                      disabled={at === 0}
                      onClick={() => move(id, -1)}
                    >
                      <ChevronUpIcon size={12} />
                    </ActionIcon>
                    <ActionIcon
                      size={20}
                      aria-label={`Move ${head} to the right`}
                      disabled={at === shown.length - 1}
                      onClick={() => move(id, 1)}
                    >
                      <ChevronDownIcon size={12} />
                    </ActionIcon>
                  </>
                )}
              </Group>
            )
          })}
          <Button variant="subtle" onClick={() => choice.choose(undefined)}>
            Show the usual columns
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
