package io.varve.experiments.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.jspecify.annotations.Nullable;

/**
 * Makes idle cores poll instead of sleep, if this process may request that. Confined to the thread that
 * opens and closes it.
 *
 * <p>A sleeping core, above all a virtual one, may take longer to wake than a reply takes. Linux accepts such a request
 * through a device (its PM QoS interface), which only root may open, and honours it as long as the device is open.
 */
public final class PollingIdle implements AutoCloseable {
    private static final String POLL = "polling requested";
    private static final String IN_VAIN = ", without effect: the system has no driver for idle cores";
    private static final String AS_THEY_ARE = "the machine's default";
    private static final Path DEVICE = Path.of("/dev/cpu_dma_latency");
    /** The file with the name of the driver that puts idle cores to sleep and takes the request. */
    private static final Path DRIVER = Path.of("/sys/devices/system/cpu/cpuidle/current_driver");
    private static final String NO_DRIVER = "none";

    private final @Nullable FileChannel held;
    private final String state;

    private PollingIdle(@Nullable FileChannel held, String state) {
        this.held = held;
        this.state = state;
    }

    public static PollingIdle request() {
        return request(DEVICE, DRIVER);
    }

    /** Makes no request. */
    public static PollingIdle withoutRequest() {
        return new PollingIdle(null, AS_THEY_ARE);
    }

    static PollingIdle request(Path device, Path driver) {
        FileChannel channel = null;
        try {
            channel = FileChannel.open(device, StandardOpenOption.WRITE);
            // Maximum wake-up time of a core, as a native integer of microseconds: zero.
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

    /** The driver that takes the request, as far as the system reports it. */
    private static String by(Path driver) throws IOException {
        if (!Files.exists(driver)) {
            return "";
        }
        String name = Files.readString(driver).strip();
        return name.equals(NO_DRIVER) ? IN_VAIN : " (" + name + ")";
    }

    /** The state of idle cores: polling, with the driver that does it; or the reason why the request failed. */
    public String state() {
        return state;
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
