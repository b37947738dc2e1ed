import '@mantine/notifications/styles.css'
import { type NotificationData, Notifications, notifications } from '@mantine/notifications'

export function ToastShelf() {
  return <Notifications position="bottom-right" limit={4} />
}

export function showToast(toast: NotificationData): void {
  notifications.show(toast)
}
