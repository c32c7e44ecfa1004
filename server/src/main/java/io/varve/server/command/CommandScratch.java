package io.varve.server.command;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A key for scratch objects that a command family reuses: one object per {@link CommandContext}, created on first use.
 * Immutable; each object is confined to the event loop of its context.
 */
public final class CommandScratch<T> {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final int place = COUNT.getAndIncrement();
    private final Function<CommandContext, T> maker;

    private CommandScratch(Function<CommandContext, T> maker) {
        this.maker = maker;
    }

    /** Creates a key for all contexts, to be kept in a static field. */
    public static <T> CommandScratch<T> madeBy(Function<CommandContext, T> maker) {
        return new CommandScratch<>(maker);
    }

    /** The scratch object of a context. */
    @SuppressWarnings("unchecked")
    public T of(CommandContext context) {
        Object there = context.scratchObject(place);
        if (there == null) {
            there = maker.apply(context);
            context.scratchObject(place, there);
        }
        return (T) there;
    }
}
