package io.varve.server.system;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The standard error that the launcher was started with. Static methods only, called by the main thread before there is another.
 *
 * <p>The launcher starts the JVM with a pipe in its place, which leaves one line out: the warning that the module of vectors is an
 * incubator's, which no option silences. The real one is another descriptor meanwhile.
 */
public final class StandardError {
    /** Names the descriptor. */
    static final String DESCRIPTOR = "varve.stderr";
    private static final int STANDARD_ERROR = 2;

    private StandardError() {}

    /**
     * Puts it back where the launcher has taken it, for this JVM's own messages, too. Where the system refuses, which it has no reason for,
     * the pipe does as well.
     */
    public static void restore() {
        Integer descriptor = Integer.getInteger(DESCRIPTOR);
        if (descriptor == null) {
            return;
        }
        System.clearProperty(DESCRIPTOR);
        Linker linker = Linker.nativeLinker();
        MethodHandle duplicate = linker.downcallHandle(linker.defaultLookup().findOrThrow("dup2"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        MethodHandle close = linker.downcallHandle(linker.defaultLookup().findOrThrow("close"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try {
            int placed = (int) duplicate.invokeExact(descriptor.intValue(), STANDARD_ERROR);
            int closed = placed == STANDARD_ERROR ? (int) close.invokeExact(descriptor.intValue()) : placed;
            if (closed < 0) {
                System.err.println("varve: standard error stays a pipe of the launcher's");
            }
        } catch (Throwable unexpected) {
            throw new IllegalStateException("dup2 could not be called", unexpected);
        }
    }
}
