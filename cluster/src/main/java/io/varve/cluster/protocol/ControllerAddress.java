package io.varve.cluster.protocol;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The name and address of a controller. Immutable.
 *
 * @param id its name in the Raft group
 * @param host what the other controllers and the members connect to
 * @param port from 1 to 65535
 */
public record ControllerAddress(String id, String host, int port) {
    private static final int MAX_PORT = 65_535;

    public ControllerAddress {
        if (id.isBlank() || host.isBlank() || port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("controller '" + id + "@" + host + ":" + port
                    + "': expected an ID, a host and a port from 1 to " + MAX_PORT);
        }
    }

    /** Parses {@code ID@HOST:PORT}. The ID may be missing: then it is HOST:PORT. */
    public static ControllerAddress parse(String text) {
        int at = text.indexOf('@');
        String address = text.substring(at + 1);
        int colon = address.lastIndexOf(':');
        String id = at < 0 ? address : text.substring(0, at);
        try {
            if (colon > 0) {
                return new ControllerAddress(id, address.substring(0, colon),
                        Integer.parseInt(address.substring(colon + 1)));
            }
        } catch (NumberFormatException _) {
            // The message below tells what is wrong.
        }
        throw new IllegalArgumentException("controller '" + text + "': expected ID@HOST:PORT");
    }

    /** Parses addresses between commas. IDs and addresses must differ. */
    public static List<ControllerAddress> parseList(String text) {
        List<ControllerAddress> parsed = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (String part : text.split(",", -1)) {
            ControllerAddress next = parse(part.strip());
            if (!seen.add("id " + next.id) || !seen.add(next.address())) {
                throw new IllegalArgumentException("controller '" + part.strip() + "': given twice");
            }
            parsed.add(next);
        }
        return parsed;
    }

    /** @return HOST:PORT */
    public String address() {
        return host + ':' + port;
    }
}
