package io.varve.server.command;

import io.varve.server.command.session.Transaction;
import io.varve.server.resp.NoBufferException;
import org.jspecify.annotations.Nullable;

/** The operations behind MULTI and EXEC. Confined to its event loop. */
public interface Transactions {
    /** Creates an empty transaction, which the caller ends; null if the heap budget is exhausted. */
    @Nullable
    Transaction begin(int database);

    /**
     * Runs the client's transaction, ends it, and replies.
     *
     * @throws io.varve.server.command.flash.KeyNotResidentException if a key may be on flash: no command has run, and
     *     the transaction still exists
     * @throws NoBufferException if there is no memory for the replies. A read-only transaction then still exists.
     *     Otherwise all commands have run, but the one whose reply failed may have run in part; the connection has to
     *     be closed, because its client cannot get the replies
     */
    void run(CommandContext exec, Transaction queued);
}
