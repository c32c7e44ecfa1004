package io.varve.server.system;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ignores SIGHUP, the signal that a process gets when its terminal closes. Immutable: static methods only. */
public final class Hangup {
    private static final Logger LOG = LoggerFactory.getLogger(Hangup.class);
    private static final int SIGHUP = 1;
    private static final MemorySegment SIG_IGN = MemorySegment.ofAddress(1);
    private static final MemorySegment SIG_ERR = MemorySegment.ofAddress(-1);

    private Hangup() {}

    /** Ignores the signal, as Redis does: the server continues without its terminal. The JVM would end. */
    public static void ignore() {
        if (System.getProperty("os.name", "").startsWith("Windows")) {
            return;
        }
        try {
            Linker linker = Linker.nativeLinker();
            MemorySegment symbol = linker.defaultLookup().find("signal")
                    .orElseThrow(() -> new IllegalStateException("The C library has no signal()"));
            MemorySegment before = (MemorySegment) linker.downcallHandle(symbol, FunctionDescriptor
                    .of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.ADDRESS)).invokeExact(SIGHUP, SIG_IGN);
            if (before.equals(SIG_ERR)) {
                LOG.warn("SIGHUP will stop the server: the operating system does not allow ignoring it");
            }
        } catch (Throwable unexpected) {
            LOG.warn("SIGHUP will stop the server: it cannot be ignored", unexpected);
        }
    }
}
