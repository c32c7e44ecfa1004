package io.varve.server.command;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.varve.flash.tier.FlashTier;
import io.varve.server.resp.ReplyWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How commands answer that need files and name no key: their client waits, the event loop does not. Immutable: static methods only. */
final class FlashCommands {
    private static final Logger LOG = LoggerFactory.getLogger(FlashCommands.class);
    private static final String FAILED = "ERR flash failed: see the server's log";

    private FlashCommands() {}

    /** Answers what is found out by the thread that looks at flash. */
    static void answerLater(Invocation call, Supplier<Consumer<ReplyWriter>> look) {
        Suspension waiting = call.suspend(0, _ -> {});
        FlashTier tier = java.util.Objects.requireNonNull(call.server().flash());
        answer(waiting, tier.look(() -> waiting.answer(look.get())), _ -> {});
    }

    /** Answers OK once something has been changed. */
    static void okLater(Invocation call, CompletableFuture<Void> change) {
        answer(call.suspend(0, _ -> {}), change, ReplyWriter::ok);
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
