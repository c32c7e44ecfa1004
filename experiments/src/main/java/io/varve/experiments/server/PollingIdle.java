package io.varve.experiments.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.jspecify.annotations.Nullable;

/**
 * Has cores that have nothing to do look for work all the time instead of sleeping, where the machine lets this process ask for that: a core that sleeps, a
 * virtual one above all, may take longer to wake than a reply takes. Linux takes such a request through a device (its PM QoS interface), which only root may open, and
 * keeps to it as long as that is open. Opened and closed by one thread.
 */
public final class PollingIdle implements AutoCloseable {
    private static final String POLL = "asked to poll";
    private static final String IN_VAIN = ", in vain: the system has no driver for idle cores";
    private static final String AS_THEY_ARE = "as the machine has them";
    private static final Path DEVICE = Path.of("/dev/cpu_dma_latency");
    /** The name of what puts idle cores to sleep, and takes the request. */
    private static final Path DRIVER = Path.of("/sys/devices/system/cpu/cpuidle/current_driver");
    private static final String NO_DRIVER = "none";

    private final @Nullable FileChannel held;
    private final String told;

    private PollingIdle(@Nullable FileChannel held, String told) {
        this.held = held;
        this.told = told;
    }

    public static PollingIdle ask() {
        return ask(DEVICE, DRIVER);
    }

    /** Asks for nothing. */
    public static PollingIdle unasked() {
        return new PollingIdle(null, AS_THEY_ARE);
    }

    static PollingIdle ask(Path device, Path driver) {
        FileChannel channel = null;
        try {
            channel = FileChannel.open(device, StandardOpenOption.WRITE);
            // The longest time in which a core may wake, as a native integer of microseconds: none.
            channel.write(ByteBuffer.allocate(Integer.BYTES));
            return new PollingIdle(channel, POLL + by(driver));
        } catch (IOException e) {
            String why = e.toString();
            if (channel != null) {
                try {
                    channel.close();
                } catch (IOException another) {
                    why += ", " + another;
                }
            }
            return new PollingIdle(null, AS_THEY_ARE + " (" + why + ")");
        }
    }

    /** Who takes the request, as far as the system says so. */
    private static String by(Path driver) throws IOException {
        if (!Files.exists(driver)) {
            return "";
        }
        String name = Files.readString(driver).strip();
        return name.equals(NO_DRIVER) ? IN_VAIN : " (" + name + ")";
    }

    /** What idle cores do: asked to poll, and by which driver of the system; or else why that could not be asked for. */
    public String told() {
        return told;
    }

    boolean isHeld() {
        return held != null && held.isOpen();
    }

    @Override
    public void close() throws IOException {
        if (held != null) {
            held.close();
        }
    }
}
