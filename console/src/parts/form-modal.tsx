import { Modal, type ModalProps } from '@mantine/core'
import { createContext, useContext, useLayoutEffect, useRef, useState } from 'react'
import { AskFirst } from './ask-first.tsx'

const Typed = createContext<{ current: boolean }>({ current: false })

/** Tells the dialog around a form whether closing it would lose something. */
export function useReportTyped(isTyped: boolean): void {
  const typed = useContext(Typed)
  useLayoutEffect(() => {
    typed.current = isTyped
    return () => {
      typed.current = false
    }
  }, [typed, isTyped])
}

/**
 * The dialog of a form. A click beside it does not close it, and Escape and its cross ask first where
 * somebody has typed. The question waits for the end of the event: it would take the same Escape as its own.
 */
export function FormModal({
  opened,
  onClose,
  closeOnEscape = true,
  children,
  ...props
}: Omit<ModalProps, 'closeOnClickOutside'>) {
  const isTyped = useRef(false)
  const [isAsking, setAsking] = useState(false)
  return (
    <Modal
      {...props}
      opened={opened}
      onClose={() => (isTyped.current ? setTimeout(setAsking, 0, true) : onClose())}
      closeOnClickOutside={false}
      closeOnEscape={closeOnEscape && !isAsking}
    >
      <Typed value={isTyped}>{children}</Typed>
      <AskFirst
        opened={isAsking}
        onClose={() => setAsking(false)}
        verb="Discard it"
        isBad
        act={async () => onClose()}
      >
        What you have typed is not saved.
      </AskFirst>
    </Modal>
  )
}
