package io.varve.server.command.blocking;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.varve.flash.tier.FlashTier;
import io.varve.server.command.CommandContext;
import io.varve.server.command.Errors;
import io.varve.server.command.HeapReservation;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replies later to commands that need flash files and name no key: their client waits, and the event loop does not.
 * Immutable: static methods only.
 */
public final class DeferredFlashReplies {
    private static final Logger LOG = LoggerFactory.getLogger(DeferredFlashReplies.class);
    /** The error of a command whose work on flash has failed. */
    public static final String FAILED = "ERR flash access failed: see the server's log";

    private DeferredFlashReplies() {}

    /**
     * Replies with a result that the flash reader thread computes.
     *
     * @param reservation heap budget held until the reply
     * @param lookup computes the result; null if the heap budget is exhausted
     */
    public static <T> void answerLater(CommandContext context, HeapReservation reservation,
            Supplier<@Nullable T> lookup,
            BiConsumer<T, ReplyWriter> writer) {
        ParkedCommand waiting = context.park(0, _ -> {});
        waiting.onFinish(reservation::end);
        FlashTier tier = java.util.Objects.requireNonNull(context.server().flash());
        answer(waiting, tier.runScan(() -> {
            T found = lookup.get();
            waiting.answer(reply -> {
                if (found == null) {
                    reply.error(Errors.OUT_OF_ARGUMENT_MEMORY);
                } else {
                    writer.accept(found, reply);
                }
            });
        }), _ -> {});
    }

    /** Replies OK after a change completes, which is recorded meanwhile: the reply waits for the log as others do. */
    public static void okLater(CommandContext context, CompletableFuture<Void> change) {
        Client client = context.client();
        ChangeStream changes = context.server().changes();
        answer(context.park(0, _ -> {}), change, reply -> {
            client.repliesAfter(changes.offset());
            reply.ok();
        });
    }

    private static void answer(ParkedCommand waiting, CompletableFuture<Void> work, Consumer<ReplyWriter> done) {
        CompletableFuture<Void> replied = work.handle((_, failed) -> {
            if (failed == null) {
                waiting.answer(done);
            } else {
                LOG.error("A command failed because flash could not be read",
                        failed instanceof CompletionException wrapped ? wrapped.getCause() : failed);
                waiting.answer(reply -> reply.error(FAILED));
            }
            return null;
        });
        assert !replied.isCancelled();
    }
}
