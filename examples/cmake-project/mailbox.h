/* A box for one letter. */
#ifndef MAILBOX_H
#define MAILBOX_H

#ifdef __cplusplus
extern "C" {
#endif

/* Puts a letter into the box; false if there is one. */
int mailbox_put(int letter);
/* Takes the letter out of the box; 0 if there is none. */
int mailbox_take(void);

#ifdef __cplusplus
}
#endif

#endif
