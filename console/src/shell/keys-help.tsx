import { Kbd, Modal, Table } from '@mantine/core'
import { useMay, useSession } from '../api/session.ts'
import { placesOf } from './navigation.ts'

const pageKeys = [
  ['/', 'Search on this page'],
  ['J K', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['X', 'Select the row'],
  ['Esc', 'Close what is open'],
  ['F', 'Keep only rows with the value of this cell'],
  ['Shift F', 'Leave out rows with the value of this cell'],
  ['C', 'Copy the id of the row'],
  ['Ctrl K', 'Find pages, tenants, keys, models, channels, requests, the key of a secret'],
  ['?', 'Show these keys'],
] as const

/** All keys. */
export function KeysHelp({ onClose }: { onClose(): void }) {
  const may = useMay()
  const { role } = useSession()
  const shown = placesOf(may, role).flatMap(({ places }) => places)
  return (
    <Modal opened onClose={onClose} title="Keys" size="md">
      <Table verticalSpacing={4}>
        <Table.Tbody>
          {pageKeys.map(([keys, does]) => (
            <KeyLine key={keys} keys={keys} does={does} />
          ))}
          {shown.map(({ key, title }) => (
            <KeyLine key={key} keys={`G ${key.toUpperCase()}`} does={`Go to ${title}`} />
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}

function KeyLine({ keys, does }: { keys: string; does: string }) {
  return (
    <Table.Tr>
      <Table.Td>
        {keys.split(' ').map((key, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: G G has one key twice, in this order
          <Kbd key={at} mr={4}>
            {key}
          </Kbd>
        ))}
      </Table.Td>
      <Table.Td>{does}</Table.Td>
    </Table.Tr>
  )
}
