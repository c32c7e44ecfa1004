package io.varve.lua;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * The coroutines of a state, and calls that only the state's own thread may make. Used by whichever thread has control;
 * the handover between threads orders accesses.
 */
@SuppressWarnings("ReferenceEquality") // Threads are compared.
public final class Coroutines {
    private final LuaState lua;
    private final Set<Coroutine> begun = new LinkedHashSet<>();
    private Thread owner = Thread.currentThread();
    private Coroutine running;
    private Throwable failure;
    private Object answer;
    private Object[] several = LuaState.noValues();
    private boolean isSeveral;
    private volatile Request request;

    /** A call that the owner makes for a coroutine. */
    private record Request(NativeFunction.Body body, Arguments arguments, Thread asking) {}

    Coroutines(LuaState lua) {
        this.lua = lua;
    }

    /** The coroutine that has control, or null in the main program. */
    public Coroutine running() {
        return running;
    }

    void running(Coroutine coroutine) {
        running = coroutine;
    }

    /** Suspends the running coroutine until it is resumed, and returns what it is resumed with. */
    public Object suspend(Arguments arguments) {
        if (running == null || lua.nativeDepth() > 1) {
            throw new LuaError("attempt to yield across metamethod/C-call boundary");
        }
        return running.suspend(arguments.array(), arguments.offset(), arguments.count());
    }

    void begin(Coroutine coroutine) {
        if (begun.size() >= lua.limits().coroutines()) {
            throw new LuaError("too many coroutines");
        }
        if (running == null) {
            owner = Thread.currentThread();
        }
        begun.add(coroutine);
    }

    void end(Coroutine coroutine) {
        begun.remove(coroutine);
    }

    /** Ends all coroutines that are suspended. Called by the owner. */
    void endAll() {
        running = null;
        while (!begun.isEmpty()) {
            Coroutine coroutine = begun.iterator().next();
            coroutine.end();
            begun.remove(coroutine);
        }
    }

    /**
     * Calls native code on the state's own thread: for functions of the server, which is confined to it. Most calls
     * come from that thread already.
     */
    public Object onOwner(NativeFunction.Body body, Arguments arguments) {
        if (running == null) {
            return body.call(lua, arguments);
        }
        request = new Request(body, arguments, Thread.currentThread());
        LockSupport.unpark(owner);
        while (request != null) {
            LockSupport.park(this);
        }
        Throwable thrown = failure;
        failure = null;
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException exception) {
            throw exception;
        }
        return isSeveral ? lua.results(several, 0, several.length) : answer;
    }

    /** Makes the call that a coroutine waits for, if any. Called by threads that wait for a coroutine. */
    void serveRequest() {
        Request wanted = request;
        if (wanted == null || Thread.currentThread() != owner) {
            return;
        }
        Coroutine asking = running;
        running = null;
        try {
            Object returned = wanted.body().call(lua, wanted.arguments());
            isSeveral = returned instanceof Results;
            answer = isSeveral ? null : returned;
            several = returned instanceof Results results
                    ? LuaState.copy(results.array(), 0, results.count())
                    : LuaState.noValues();
        } catch (RuntimeException | Error thrown) {
            failure = thrown;
        }
        running = asking;
        request = null;
        LockSupport.unpark(wanted.asking());
    }

    void addReferences(MemoryMeasure measure) {
        if (running != null) {
            running.addResumers(measure);
        }
        for (Coroutine each : begun) {
            measure.add(each);
        }
    }
}
