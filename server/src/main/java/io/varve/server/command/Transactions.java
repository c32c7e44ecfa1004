package io.varve.server.command;

import io.varve.server.resp.NoBufferException;
import org.jspecify.annotations.Nullable;

/** What MULTI and EXEC ask for. Confined to its event loop. */
public interface Transactions {
    /** A transaction with nothing queued in it, which the caller ends; null if the heap has no room for it. */
    @Nullable
    Transaction begin(int database);

    /**
     * Runs the transaction of the client, which is over then, and replies.
     *
     * @throws KeyBelowException if a key may be on flash: nothing has been run, and the transaction is still there
     * @throws NoBufferException if there is no memory for the replies: where commands but read, it is still there; else all of them
     *                           have run, but for the one whose reply found none, which may have run in part, and the connection is
     *                           to break, because its client cannot be told so
     */
    void run(Invocation exec, Transaction queued);
}
