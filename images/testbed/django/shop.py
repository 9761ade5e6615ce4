"""A shop on Django in one file, by its own development server, as many first deployments have it."""
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import path

settings.configure(DEBUG=True, SECRET_KEY='for-a-test-alone', ROOT_URLCONF=__name__, ALLOWED_HOSTS=['*'])

urlpatterns = [path('ok', lambda request: HttpResponse('ok'))]

if __name__ == '__main__':
    execute_from_command_line(sys.argv)
