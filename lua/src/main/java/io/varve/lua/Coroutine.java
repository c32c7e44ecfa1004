package io.varve.lua;

import java.util.concurrent.locks.LockSupport;

/**
 * A coroutine. It runs on a thread of its own, but never at the same time as what resumed it: control is handed over,
 * and with it the state. So fields are plain; the handover orders accesses.
 */
public final class Coroutine {
    static final int BYTES = 2048;
    private static final int STACK_BYTES = 512 << 10;
    private static final int STACK_MARGIN = 128 << 10;

    /** The states of a coroutine. */
    public enum Status {
        SUSPENDED, RUNNING, NORMAL, DEAD
    }

    /** Unwinds the thread of a coroutine that nobody will resume. */
    private static final class Ended extends LuaKilled {
        private static final long serialVersionUID = 1L;

        Ended() {
            super("the run has ended");
        }
    }

    int measure;
    private final LuaState lua;
    private final LuaFunction body;
    private Thread thread;
    private Status status = Status.SUSPENDED;
    /** The coroutine that resumed this one; null: the main program did. */
    private Coroutine resumer;
    private Arguments resumerLevel;
    /** The call stack while it is suspended. */
    private Arguments level;
    private int nativeDepth;
    private int stackUsed;
    /** Values on their way in or out. */
    private Object[] transfer = LuaState.noValues();
    private Throwable thrown;
    private boolean ending;
    /** True while the coroutine's thread has control. */
    private volatile boolean inside;
    private volatile Thread waiting;

    private Coroutine(LuaState lua, LuaFunction body) {
        this.lua = lua;
        this.body = body;
    }

    /** A coroutine that has not begun. */
    public static Coroutine create(LuaState lua, LuaFunction body) {
        lua.charge(BYTES);
        return new Coroutine(lua, body);
    }

    /** The state of the coroutine, as the running code sees it. */
    public Status status() {
        return status;
    }

    /**
     * Runs the coroutine until it yields, returns or fails.
     *
     * @return what it yielded or returned
     * @throws LuaError its error, or that it cannot be resumed
     */
    public Object resume(Object[] values, int offset, int count) {
        if (status != Status.SUSPENDED) {
            throw new LuaError("cannot resume " + (status == Status.DEAD
                    ? "dead"
                    : status == Status.RUNNING ? "running" : "normal") + " coroutine");
        }
        if (thread == null) {
            lua.coroutines().begin(this);
        }
        transfer = LuaState.copy(values, offset, count);
        resumer = lua.coroutines().running();
        resumerLevel = lua.current();
        if (resumer != null) {
            resumer.status = Status.NORMAL;
        }
        status = Status.RUNNING;
        long saved = lua.mark();
        int savedLimit = lua.stackLimit(STACK_BYTES - STACK_MARGIN);
        lua.coroutines().running(this);
        lua.restore((long) stackUsed << 32 | nativeDepth, level);
        runThread();
        lua.coroutines().running(resumer);
        lua.stackLimit(savedLimit);
        lua.restore(saved, resumerLevel);
        resumerLevel = null;
        if (resumer != null) {
            resumer.status = Status.RUNNING;
        }
        return outcome();
    }

    private Object outcome() {
        Object[] out = transfer;
        transfer = LuaState.noValues();
        Throwable failure = thrown;
        thrown = null;
        return switch (failure) {
            case null -> lua.results(out, 0, out.length);
            case LuaError error -> throw error;
            case Error error -> throw error;
            case RuntimeException exception -> throw exception;
            default -> throw new IllegalStateException(failure);
        };
    }

    /** Gives control to the coroutine's thread and waits until it gives it back. */
    private void runThread() {
        waiting = Thread.currentThread();
        inside = true;
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name("lua-coroutine").stackSize(STACK_BYTES).unstarted(this::run);
            thread.start();
        } else {
            LockSupport.unpark(thread);
        }
        while (inside) {
            lua.coroutines().serveRequest();
            LockSupport.park(this);
        }
    }

    private void run() {
        try {
            Object[] arguments = transfer;
            Object returned = lua.call(body, arguments);
            transfer = returned instanceof Results several
                    ? LuaState.copy(several.array(), 0, several.count())
                    : new Object[] {returned};
        } catch (StackOverflowError overflow) {
            thrown = new LuaError("stack overflow");
        } catch (Ended end) {
            thrown = null;
        } catch (Throwable failure) {
            thrown = failure;
        }
        status = Status.DEAD;
        level = null;
        lua.coroutines().end(this);
        inside = false;
        LockSupport.unpark(waiting);
    }

    /** Suspends the running coroutine. Called on its thread. */
    Object suspend(Object[] values, int offset, int count) {
        transfer = LuaState.copy(values, offset, count);
        level = lua.current();
        long mark = lua.mark();
        stackUsed = (int) (mark >>> 32);
        nativeDepth = (int) mark;
        status = Status.SUSPENDED;
        inside = false;
        LockSupport.unpark(waiting);
        while (!inside) {
            LockSupport.park(this);
        }
        if (ending) {
            throw new Ended();
        }
        Object[] in = transfer;
        transfer = LuaState.noValues();
        return lua.results(in, 0, in.length);
    }

    /** Unwinds a suspended coroutine's thread and waits for its end. */
    void end() {
        if (thread == null || status == Status.DEAD) {
            status = Status.DEAD;
            return;
        }
        ending = true;
        long saved = lua.mark();
        Arguments current = lua.current();
        runThread();
        lua.restore(saved, current);
    }

    void addReferences(MemoryMeasure measure) {
        measure.add(body);
        measure.add(transfer, 0, transfer.length);
        for (Arguments each = level; each != null; each = each.parent()) {
            each.addReferences(measure);
        }
    }

    /** Adds what waits for this coroutine to yield. */
    void addResumers(MemoryMeasure measure) {
        for (Coroutine each = this; each != null; each = each.resumer) {
            measure.add(each);
            for (Arguments frame = each.resumerLevel; frame != null; frame = frame.parent()) {
                frame.addReferences(measure);
            }
        }
    }
}
