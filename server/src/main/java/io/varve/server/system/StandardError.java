package io.varve.server.system;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Restores the standard error that the launcher was started with. Stateless; the main thread calls
 * {@link #restore} before it starts other threads.
 *
 * <p>The launcher starts the JVM with a pipe as standard error. The reader of the pipe drops one line: the warning
 * about the incubating vector module, which no option silences. The launcher keeps the original open as another
 * descriptor.
 */
public final class StandardError {
    /** The system property with the descriptor. */
    static final String DESCRIPTOR = "varve.stderr";
    private static final int STANDARD_ERROR = 2;

    private StandardError() {}

    /**
     * Replaces the launcher's pipe with the original standard error, also for the JVM's own messages. If the system
     * call fails, which is not expected, standard error remains the pipe, and messages still arrive.
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
            int duplicated = (int) duplicate.invokeExact(descriptor.intValue(), STANDARD_ERROR);
            if (duplicated < 0) {
                System.err.println("varve: standard error remains the launcher's pipe");
                return;
            }
            int closed = (int) close.invokeExact(descriptor.intValue());
            if (closed < 0) {
                System.err.println("varve: the launcher's descriptor of standard error remains open");
            }
        } catch (Throwable unexpected) {
            throw new IllegalStateException("calling dup2 or close failed", unexpected);
        }
    }
}
