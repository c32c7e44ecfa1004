package io.varve.server.system;

import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/**
 * Why a file operation failed, for people: the message of the JDK's exception may be the name of the file alone.
 * Immutable: static methods only.
 */
public final class FailureReason {
    private FailureReason() {}

    /** One line: the file, if the exception names it, and the reason. */
    public static String of(Throwable failed) {
        if (failed instanceof FileSystemException file && file.getReason() == null && file.getFile() != null) {
            return file.getFile() + ": " + switch (file) {
                case NoSuchFileException _ -> "there is no such file or directory";
                case AccessDeniedException _ -> "permission denied";
                case FileAlreadyExistsException _ -> "it exists, and is not a directory";
                case DirectoryNotEmptyException _ -> "the directory is not empty";
                default -> file.getClass().getSimpleName();
            };
        }
        return failed.getMessage() == null ? failed.toString() : failed.getMessage();
    }
}
