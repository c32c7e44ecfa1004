package io.varve.server.pubsub;

/** A client that listens, as publishers see it: an inbox, and how to tell its event loop. Many threads: immutable, but for the inbox and a flag. */
final class Subscriber {
    private final Inbox inbox = new Inbox();
    private final Runnable mailCame;
    private volatile boolean cutOff;

    /** @param mailCame tells the client's event loop to look into the inbox; any thread may run it */
    Subscriber(Runnable mailCame) {
        this.mailCame = mailCame;
    }

    Inbox inbox() {
        return inbox;
    }

    /** From now on nothing is left for it, and nothing that waits is for it any more. */
    void cutOff() {
        cutOff = true;
    }

    boolean isCutOff() {
        return cutOff;
    }

    /** @return false if it has left or is cut off: the letter is still the caller's */
    boolean deliver(Mail letter) {
        if (cutOff || !inbox.put(letter)) {
            return false;
        }
        if (inbox.isToBeTold()) {
            mailCame.run();
        }
        return true;
    }
}
