package io.varve.server.acl;

import java.nio.charset.StandardCharsets;

/**
 * A user's name, together with the rules that hold for the user at this moment. Single writer {@link AccessControl},
 * many readers. The user is volatile, so connected clients follow changed rules from their next command on.
 */
public final class Account {
    private final String name;
    private final String text;
    private volatile User user;
    private volatile boolean deleted;

    Account(String name, User user) {
        this.name = name;
        text = new String(name.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        this.user = user;
    }

    /** Each char is a byte. */
    public String name() {
        return name;
    }

    /** The name as text, invalid UTF-8 replaced. */
    public String text() {
        return text;
    }

    public User user() {
        return user;
    }

    void user(User changed) {
        user = changed;
    }

    /** Whether the account was deleted: its connected clients have no permissions. */
    public boolean isDeleted() {
        return deleted;
    }

    void delete(User noRights) {
        user = noRights;
        deleted = true;
    }
}
