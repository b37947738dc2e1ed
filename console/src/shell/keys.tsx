import { Kbd, Modal, Table } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useMay } from '../api/session.ts'
import { isTyping } from '../parts/typing.ts'
import { places } from './navigation.ts'
import { openPalette } from './palette.tsx'

interface Help {
  isOpen: boolean
  close: () => void
}

const goMs = 1_500

/** The keys of every page: `?`, `G` and a letter, `Cmd/Ctrl+K`. Those of a page are its own. */
export function useConsoleKeys(): Help {
  const navigate = useNavigate()
  const may = useMay()
  const [isOpen, help] = useDisclosure(false)
  const wentAt = useRef<number | undefined>(undefined)
  useHotkeys([['mod+K', openPalette]], [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === '?') return help.open()
      const isSecond = wentAt.current !== undefined && event.timeStamp - wentAt.current < goMs
      wentAt.current = event.key === 'g' && !isSecond ? event.timeStamp : undefined
      if (!isSecond) return
      const place = places
        .flatMap(({ places }) => places)
        .find(({ key, area }) => key === event.key && (area === undefined || may(area)))
      if (place === undefined) return
      event.preventDefault()
      // The key is no key of the page itself.
      event.stopImmediatePropagation()
      void navigate({ to: place.to })
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [navigate, help, may])
  return { isOpen, close: help.close }
}

const pageKeys = [
  ['/', 'Search on this page'],
  ['J K', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close what is open'],
  ['F', 'Keep only rows with the value of this cell'],
  ['Shift F', 'Leave out rows with the value of this cell'],
  ['C', 'Copy the id of the row'],
  ['Ctrl K', 'Find pages, tenants, keys, models, channels, requests'],
  ['?', 'Show these keys'],
] as const

export function KeysHelp({ isOpen, close }: Help) {
  const may = useMay()
  const shown = places.flatMap(({ places }) => places).filter(({ area }) => area === undefined || may(area))
  return (
    <Modal opened={isOpen} onClose={close} title="Keys" size="md">
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
        {keys.split(' ').map((key) => (
          <Kbd key={key} mr={4}>
            {key}
          </Kbd>
        ))}
      </Table.Td>
      <Table.Td>{does}</Table.Td>
    </Table.Tr>
  )
}
