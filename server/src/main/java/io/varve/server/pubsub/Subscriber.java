package io.varve.server.pubsub;

/**
 * A subscribed client as publishers see it: an inbox, and a callback that wakes its event loop. Many threads:
 * immutable, except the inbox and a flag.
 */
final class Subscriber {
    private final Inbox inbox = new Inbox();
    private final Runnable onMessages;
    private volatile boolean disconnected;

    /** @param onMessages wakes the client's event loop to read the inbox; any thread may run it */
    Subscriber(Runnable onMessages) {
        this.onMessages = onMessages;
    }

    Inbox inbox() {
        return inbox;
    }

    /** Cuts the subscriber off: later messages are not queued for it, and queued ones are not delivered. */
    void disconnect() {
        disconnected = true;
    }

    boolean isDisconnected() {
        return disconnected;
    }

    /** @return false if it has ended or is cut off: the message still belongs to the caller */
    boolean deliver(OutboundMessage message) {
        if (disconnected || !inbox.put(message)) {
            return false;
        }
        if (inbox.shouldWake()) {
            onMessages.run();
        }
        return true;
    }
}
