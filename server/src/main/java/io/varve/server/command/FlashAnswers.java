package io.varve.server.command;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.varve.flash.tier.FlashTier;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How commands answer that need files and name no key: their client waits, the event loop does not. Immutable: static methods only. */
public final class FlashAnswers {
    private static final Logger LOG = LoggerFactory.getLogger(FlashAnswers.class);
    private static final String FAILED = "ERR flash failed: see the server's log";

    private FlashAnswers() {}

    /**
     * Answers what is found out by the thread that looks at flash.
     *
     * @param loan what it takes of the heap until it is replied
     * @param look finds it out; null if the heap has no room for it
     */
    public static <T> void answerLater(Invocation call, HeapLoan loan, Supplier<@Nullable T> look,
            BiConsumer<T, ReplyWriter> writer) {
        Suspension waiting = call.suspend(0, _ -> {});
        waiting.whenOver(loan::end);
        FlashTier tier = java.util.Objects.requireNonNull(call.server().flash());
        answer(waiting, tier.look(() -> {
            T found = look.get();
            waiting.answer(reply -> {
                if (found == null) {
                    reply.error(Errors.OUT_OF_ARGUMENT_MEMORY);
                } else {
                    writer.accept(found, reply);
                }
            });
        }), _ -> {});
    }

    /** Answers OK once something has been changed: until then nothing is promised to those who wait for keys. */
    public static void okLater(Invocation call, CompletableFuture<Void> change) {
        Runnable end = Promises.endLater(call);
        answer(call.suspend(0, _ -> {}), change.whenComplete((_, _) -> end.run()), ReplyWriter::ok);
    }

    private static void answer(Suspension waiting, CompletableFuture<Void> work, Consumer<ReplyWriter> done) {
        CompletableFuture<Void> told = work.handle((_, failed) -> {
            if (failed == null) {
                waiting.answer(done);
            } else {
                LOG.error("A command failed for want of flash",
                        failed instanceof CompletionException wrapped ? wrapped.getCause() : failed);
                waiting.answer(reply -> reply.error(FAILED));
            }
            return null;
        });
        assert !told.isCancelled();
    }
}
