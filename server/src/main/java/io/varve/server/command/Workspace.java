package io.varve.server.command;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * What a family works with while its commands run, reused from command to command: there is one for each {@link Invocation}, made when
 * it is asked for first. Immutable; what it leads to is confined to the event loop of the invocation.
 */
public final class Workspace<T> {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final int place = COUNT.getAndIncrement();
    private final Function<Invocation, T> maker;

    private Workspace(Function<Invocation, T> maker) {
        this.maker = maker;
    }

    /** One for all invocations: to be kept in a static field. */
    public static <T> Workspace<T> madeBy(Function<Invocation, T> maker) {
        return new Workspace<>(maker);
    }

    /** That of an invocation. */
    @SuppressWarnings("unchecked")
    public T of(Invocation call) {
        Object there = call.workspace(place);
        if (there == null) {
            there = maker.apply(call);
            call.workspace(place, there);
        }
        return (T) there;
    }
}
